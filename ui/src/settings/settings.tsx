import { ScreenHeader } from "@/shell/shell";

export default function Settings() {
  return <ScreenHeader title="Settings" />;
}
