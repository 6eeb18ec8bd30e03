import { ScreenHeader } from "@/shell/shell";

export default function LogSearch() {
  return <ScreenHeader title="Logs" />;
}
