import { ScreenHeader } from "@/shell/shell";

export default function OperationPage() {
  return <ScreenHeader title="Operation" />;
}
