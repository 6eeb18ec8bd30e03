import { api } from "@/api/client";

/** Sign in by the key in the address that `windlass dev` prints, and take it out of the address. */
export async function signInByKey(): Promise<void> {
  const address = new URL(location.href);
  const link = address.searchParams.get("key");
  if (link === null || address.pathname.endsWith("/setup")) return;
  address.searchParams.delete("key");
  history.replaceState(null, "", address);
  // A key that was used already leaves the session one has; without one, the sign-in page follows.
  await api.POST("/api/v1/login/link", { body: { link } }).catch(() => {});
}
