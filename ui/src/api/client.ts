import createClient, { type Middleware } from "openapi-fetch";
import { problemOf, unreachable } from "./problem";
import type { paths } from "./schema";

/** Path below which the dashboard is served, without a slash at its end. */
export const root = new URL(document.baseURI).pathname.replace(/\/[^/]*$/, "");

/** The tenant that requests are limited to; the tenant lens sets it. */
let tenant: string | null = null;

export function requestsTenant(): string | null {
  return tenant;
}

export function limitRequestsTo(chosen: string | null): void {
  tenant = chosen;
}

/** Routes about the caller, which know no tenant. */
const ACCOUNT = /^\/api\/v1\/(login|logout|setup|password|sessions|invitations)/;

const narrow: Middleware = {
  onRequest({ request, schemaPath }) {
    if (tenant === null || ACCOUNT.test(schemaPath)) return undefined;
    const url = new URL(request.url);
    if (url.searchParams.has("tenant")) return undefined;
    url.searchParams.set("tenant", tenant);
    return new Request(url, request);
  },
};

const refuse: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
    const body: unknown = await response.json().catch(() => null);
    throw problemOf(response.status, body, response.headers.get("x-request-id") ?? "");
  },
  onError() {
    return unreachable();
  },
};

/** Typed client of the API; every failure is thrown as a `Problem`. */
export const api = createClient<paths>({
  baseUrl: new URL(document.baseURI).origin + root,
  // Looked up at each call, so that tests can put a server of their own in its place.
  fetch: (request) => globalThis.fetch(request),
});
api.use(narrow, refuse);

/** Address of an API path, for links and downloads. */
export function apiAddress(path: string, query: Record<string, string> = {}): string {
  const search = new URLSearchParams({ ...(tenant === null ? {} : { tenant }), ...query });
  const text = search.toString();
  return `${root}/api/v1${path}${text ? `?${text}` : ""}`;
}
