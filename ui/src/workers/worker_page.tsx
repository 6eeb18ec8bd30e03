import { ScreenHeader } from "@/shell/shell";

export default function WorkerPage() {
  return <ScreenHeader title="Worker" />;
}
