import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { problem, renderScreen } from "@/testing/render_screen";
import Setup from "./setup";

test("the key of the address is sent with name and password", async () => {
  const { user, requests } = renderScreen(<Setup />, {
    at: "/setup?key=wls_1",
    routes: {
      "GET /setup": { needed: true },
      "POST /setup": () => problem(401, "WL5105", "This key was used or has expired."),
    },
  });

  await user.type(screen.getByLabelText("Name or mail address"), "ada");
  await user.type(screen.getByLabelText("Password"), "correct horse battery");
  await user.click(screen.getByRole("button", { name: "Create and sign in" }));

  expect(await screen.findByText("This key was used or has expired.")).toBeTruthy();
  expect(requests.at(-1)?.body).toEqual({
    key: "wls_1",
    name: "ada",
    password: "correct horse battery",
  });
});

test("an installation that has an administrator offers to sign in", async () => {
  renderScreen(<Setup />, { routes: { "GET /setup": { needed: false } } });

  expect(await screen.findByRole("link", { name: "Sign in" })).toBeTruthy();
});
