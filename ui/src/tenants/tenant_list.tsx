import { ScreenHeader } from "@/shell/shell";

export default function TenantList() {
  return <ScreenHeader title="Tenants" />;
}
