import { ScreenHeader } from "@/shell/shell";

export default function TenantPage() {
  return <ScreenHeader title="Tenant" />;
}
