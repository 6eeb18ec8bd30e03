import { ScreenHeader } from "@/shell/shell";

export default function Fleet() {
  return <ScreenHeader title="Fleet" />;
}
