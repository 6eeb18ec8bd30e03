import { ScreenHeader } from "@/shell/shell";

export default function Audit() {
  return <ScreenHeader title="Audit" />;
}
