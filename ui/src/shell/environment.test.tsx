import { screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Identity } from "@/api/session";
import { renderScreen } from "@/testing/render_screen";
import { DevError } from "./dev_error";
import { Environment } from "./environment";

const USER = {
  name: "bob",
  kind: "session",
  id: null,
  tenant_id: "acme",
  rights: null,
  memberships: [
    { tenant_id: "acme", role: "user", permissions: [], rights: ["jobs.read", "settings.read"] },
  ],
} as unknown as Identity;

function icon(): HTMLLinkElement {
  return document.querySelector("link[rel=icon]") as HTMLLinkElement;
}

beforeEach(() => {
  const link = document.createElement("link");
  link.rel = "icon";
  link.href = "http://localhost/favicon.svg";
  document.head.append(link);
  document.documentElement.style.setProperty("--state-dead-letter", "#b91c1c");
});

afterEach(() => icon().remove());

test("stripe, title and icon tell the environment, to users of a tenant too", async () => {
  const view = renderScreen(<Environment screen="Jobs" />, {
    routes: { "GET /settings": { environment: "production" } },
    identity: USER,
  });

  expect((await screen.findByTitle("Environment production")).style.borderColor).toBe(
    "var(--state-dead-letter)",
  );
  await waitFor(() => expect(document.title).toBe("[production] Jobs · Windlass"));
  expect(decodeURIComponent(icon().href)).toContain('fill="#b91c1c"');
  view.unmount();
  await waitFor(() => expect(icon().href).toBe("http://localhost/favicon.svg"));
});

test("an installation without a name has no stripe", async () => {
  const { requests } = renderScreen(<Environment screen="Jobs" />, {
    routes: { "GET /settings": { environment: "" } },
  });

  await waitFor(() => expect(requests).toHaveLength(1));
  expect(document.title).toBe("Jobs · Windlass");
  expect(screen.queryByTitle(/Environment/)).toBeNull();
});

test("under windlass dev an import that failed is shown until it succeeds", async () => {
  let error: object | null = { message: "jobs.py cannot be imported", traceback: "NameError: x" };
  const { client } = renderScreen(<DevError />, {
    routes: { "GET /settings": { development: true }, "GET /dev": () => ({ error }) },
  });

  await screen.findByText(/jobs.py cannot be imported/);
  expect(screen.getByText("NameError: x").closest("details")?.open).toBe(false);
  error = null;
  await client.invalidateQueries();

  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

test("elsewhere nobody asks for import errors", async () => {
  const { requests } = renderScreen(<DevError />, {
    routes: { "GET /settings": { development: false } },
  });

  await waitFor(() => expect(requests.map((each) => each.path)).toEqual(["/settings"]));
  expect(screen.queryByRole("alert")).toBeNull();
});
