import { ScreenHeader } from "@/shell/shell";

export default function JobPage() {
  return <ScreenHeader title="Job" />;
}
