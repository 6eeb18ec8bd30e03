import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import { renderScreen } from "@/testing/render_screen";
import { LensSelect } from "./lens";

test("Windlass's own tenant is no second one", () => {
  const first = renderScreen(<LensSelect />, { tenants: ["default", "system"] });
  expect(screen.queryByLabelText("Tenant")).toBeNull();
  first.unmount();

  renderScreen(<LensSelect />, { tenants: ["acme", "default", "system"] });

  expect(screen.getByLabelText("Tenant")).toBeTruthy();
});
