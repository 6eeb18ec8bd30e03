import { ScreenHeader } from "@/shell/shell";

export default function DefinitionList() {
  return <ScreenHeader title="Definitions" />;
}
