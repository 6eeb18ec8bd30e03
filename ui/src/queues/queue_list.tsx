import { ScreenHeader } from "@/shell/shell";

export default function QueueList() {
  return <ScreenHeader title="Queues" />;
}
