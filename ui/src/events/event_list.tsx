import { ScreenHeader } from "@/shell/shell";

export default function EventList() {
  return <ScreenHeader title="Events" />;
}
