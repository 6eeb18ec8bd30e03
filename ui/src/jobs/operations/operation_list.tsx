import { ScreenHeader } from "@/shell/shell";

export default function OperationList() {
  return <ScreenHeader title="Operations" />;
}
