import { PageHead } from "../parts/basics.tsx";

export const Refused = () => <PageHead title="Refused" />;
