import { ScreenHeader } from "@/shell/shell";

export default function DeadLetter() {
  return <ScreenHeader title="Dead letter" />;
}
