import { ScreenHeader } from "@/shell/shell";

export default function EventPage() {
  return <ScreenHeader title="Event" />;
}
