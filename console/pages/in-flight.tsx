import { PageHead } from "../parts/basics.tsx";

export const InFlight = () => <PageHead title="In flight" />;
