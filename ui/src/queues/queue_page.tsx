import { ScreenHeader } from "@/shell/shell";

export default function QueuePage() {
  return <ScreenHeader title="Queue" />;
}
