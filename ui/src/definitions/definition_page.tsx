import { ScreenHeader } from "@/shell/shell";

export default function DefinitionPage() {
  return <ScreenHeader title="Definition" />;
}
