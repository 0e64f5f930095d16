import { PageHead } from "../parts/basics.tsx";

export const Catalogue = () => <PageHead title="Catalogue" />;
