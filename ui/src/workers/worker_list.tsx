import { ScreenHeader } from "@/shell/shell";

export default function WorkerList() {
  return <ScreenHeader title="Workers" />;
}
