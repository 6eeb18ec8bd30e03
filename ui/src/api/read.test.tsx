import { useQueryClient } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/preact";
import { useState } from "react";
import { expect, test } from "vitest";
import { renderScreen } from "@/testing/render_screen";
import { refresh, useRead } from "./read";

function Names({ who }: { who: string }) {
  const queues = useRead("/api/v1/queues", {}, { topics: ["queues"] });
  return (
    <p>
      {who}: {queues.data?.items.map((each) => each.name).join()}
    </p>
  );
}

function Two() {
  const [both, setBoth] = useState(true);
  const client = useQueryClient();
  return (
    <>
      <Names who="one" />
      {both && <Names who="other" />}
      <button type="button" onClick={() => setBoth(false)}>
        Close the other
      </button>
      <button type="button" onClick={() => refresh(client, ["queues"])}>
        Change
      </button>
    </>
  );
}

test("what two components show is read again for one of them when the other has gone", async () => {
  let name = "mail";
  const { user } = renderScreen(<Two />, {
    routes: { "GET /queues": () => ({ items: [{ name }] }) },
  });
  expect(await screen.findByText("other: mail")).toBeTruthy();

  await user.click(screen.getByRole("button", { name: "Close the other" }));
  name = "media";
  await user.click(screen.getByRole("button", { name: "Change" }));

  await waitFor(() => expect(screen.getByText("one: media")).toBeTruthy());
});
