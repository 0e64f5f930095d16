import { PageHead } from "../parts/basics.tsx";

export const OneProvider = () => <PageHead title="Provider" />;
