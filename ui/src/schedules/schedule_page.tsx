import { ScreenHeader } from "@/shell/shell";

export default function SchedulePage() {
  return <ScreenHeader title="Schedule" />;
}
