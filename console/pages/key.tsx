import { PageHead } from "../parts/basics.tsx";

export const OneKey = () => <PageHead title="Key" />;
