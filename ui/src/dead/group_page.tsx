import { ScreenHeader } from "@/shell/shell";

export default function GroupPage() {
  return <ScreenHeader title="Dead-letter group" />;
}
