import { ScreenHeader } from "@/shell/shell";

export default function Account() {
  return <ScreenHeader title="My account" />;
}
