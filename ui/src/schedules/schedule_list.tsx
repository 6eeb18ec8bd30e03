import { ScreenHeader } from "@/shell/shell";

export default function ScheduleList() {
  return <ScreenHeader title="Schedules" />;
}
