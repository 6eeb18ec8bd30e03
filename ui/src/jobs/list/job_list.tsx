import { ScreenHeader } from "@/shell/shell";

export default function JobList() {
  return <ScreenHeader title="Jobs" />;
}
