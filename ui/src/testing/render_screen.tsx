import { QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import type { ReactElement } from "react";
import { Route, Router } from "wouter";
import { type Identity, SessionProvider, sessionOf } from "@/api/session";
import { createQueryClient } from "@/app";
import { Toasts } from "@/parts/dialogs/toasts";
import { isSingle, LensProvider } from "@/shell/lens";

/** A request that a component made. */
export interface SentRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/** `GET /jobs` -> what the server answers, or a function of the request; below `/api/v1`. */
export type Routes = Record<string, unknown | ((request: SentRequest) => unknown)>;

/** Answers a request with an error, as the API does. */
export function problem(status: number, code: string, title: string, more: object = {}): Response {
  return Response.json(
    { status, code, title, detail: "", hint: "", errors: [], ...more },
    { status },
  );
}

const EVERYTHING: Identity = {
  name: "admin",
  kind: "none",
  id: null,
  tenant_id: null,
  rights: null,
  memberships: [],
} as Identity;

/** Render a component at an address, against a server made of `routes`; unknown routes answer 404. */
export function renderScreen(
  element: ReactElement,
  {
    routes = {},
    at = "/",
    pattern,
    identity = EVERYTHING,
    tenants = [],
  }: {
    routes?: Routes;
    at?: string;
    /** Pattern of the page, for components that read parameters of the path. */
    pattern?: string;
    identity?: Identity;
    tenants?: string[];
  } = {},
) {
  const requests: SentRequest[] = [];
  globalThis.fetch = async (input) => {
    const request = input as Request;
    const url = new URL(request.url);
    const text = await request.text();
    const sent: SentRequest = {
      method: request.method,
      path: url.pathname.replace("/api/v1", ""),
      query: url.searchParams,
      body: text ? JSON.parse(text) : undefined,
    };
    requests.push(sent);
    const route = routes[`${sent.method} ${sent.path}`];
    if (route === undefined) return problem(404, "WL0000", `no route ${sent.method} ${sent.path}`);
    const answer: unknown = typeof route === "function" ? await route(sent) : route;
    return answer instanceof Response ? answer : Response.json(answer);
  };
  history.replaceState(null, "", at);
  const lens = { tenant: null, choose: () => {}, tenants, single: isSingle(tenants) };
  const client = createQueryClient();
  const view = render(
    <QueryClientProvider client={client}>
      <Router>
        <SessionProvider session={sessionOf(identity, null)}>
          <LensProvider lens={lens}>
            {pattern ? <Route path={pattern}>{element}</Route> : element}
            <Toasts />
          </LensProvider>
        </SessionProvider>
      </Router>
    </QueryClientProvider>,
  );
  return { ...view, user: userEvent.setup(), requests, client };
}
