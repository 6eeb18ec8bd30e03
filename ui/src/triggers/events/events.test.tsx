import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { renderScreen, type SentRequest } from "@/testing/render_screen";
import EventList from "./event_list";
import EventPage from "./event_page";

const TEMPLATE = "the payload template could not be filled in: there is no event.size";
const PAID = {
  id: "01a1f619-5ae3-75ae-9c00-92002e9c41d3",
  tenant_id: "default",
  name: "order.paid",
  data: { order: 7 },
  correlation_id: null,
  created_by: null,
  depth: 0,
  created_at: "2026-11-19T23:16:59Z",
  matched_at: "2026-11-19T23:16:59Z",
  jobs: 1,
  matches: [
    {
      trigger_id: "t1",
      trigger: "pack",
      definition: "pack",
      outcome: "created",
      job_id: "job-12345678",
      because: null,
    },
    {
      trigger_id: "t2",
      trigger: "mail",
      definition: "mail",
      outcome: "failed",
      job_id: null,
      because: TEMPLATE,
    },
    {
      trigger_id: "t3",
      trigger: "vip",
      definition: "vip",
      outcome: "existing",
      job_id: null,
      because: null,
    },
  ],
};

test("lists events with what the triggers made of them", async () => {
  renderScreen(<EventList />, { routes: { "GET /events": { items: [PAID], next_cursor: null } } });

  expect(await screen.findByText("order.paid")).toBeTruthy();
  expect(screen.getByText("1 job")).toBeTruthy();
  expect(screen.getByText(/1 failed/)).toBeTruthy();
  expect(screen.getByText(/1 deduped/)).toBeTruthy();
  expect(screen.getByText(TEMPLATE)).toBeTruthy();
});

test("says so where no trigger listens, and where nothing matches the filter", async () => {
  const nobody = { ...PAID, jobs: 0, matches: [] };
  const { user } = renderScreen(<EventList />, {
    routes: {
      "GET /events": ({ query }: SentRequest) => ({ items: query.get("name") ? [] : [nobody] }),
    },
  });

  expect(await screen.findByText("No trigger listens")).toBeTruthy();
  await user.type(screen.getByLabelText("Name"), "x");
  await user.click(await screen.findByRole("button", { name: "Clear filters" }));
  expect(await screen.findByText("No trigger listens")).toBeTruthy();
});

test("emits an event and shows the job that it made", async () => {
  const { user, requests } = renderScreen(<EventList />, {
    routes: { "GET /events": { items: [], next_cursor: null }, "POST /events": PAID },
  });
  await user.click(await screen.findByRole("button", { name: "Emit…" }));
  await user.type(await screen.findByLabelText("Name", { selector: "dialog *" }), "order.paid");
  await user.clear(screen.getByLabelText("Data"));
  await user.type(screen.getByLabelText("Data"), '{{"order": 7}');
  await user.click(screen.getByRole("button", { name: "Emit" }));

  expect(await screen.findByRole("link", { name: "12345678" })).toBeTruthy();
  expect(requests.find((each) => each.method === "POST")?.body).toEqual({
    name: "order.paid",
    data: { order: 7 },
  });
});

test("an event's page shows matches and why there was no job, and replays it", async () => {
  const again = { ...PAID, id: "01a1f619-0000-75ae-9c00-92002e9c41d3" };
  const { user } = renderScreen(<EventPage />, {
    at: `/events/${PAID.id}`,
    pattern: "/events/:id",
    routes: {
      [`GET /events/${PAID.id}`]: PAID,
      [`GET /events/${again.id}`]: again,
      [`POST /events/${PAID.id}/replay`]: again,
    },
  });

  expect(await screen.findByText(TEMPLATE)).toBeTruthy();
  expect(screen.getByText("Equal job exists")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Replay…" }));
  expect(await screen.findByText(/first time it made 1 job/)).toBeTruthy();
  await user.click(await screen.findByRole("button", { name: "Replay" }));

  await waitFor(() => expect(location.pathname).toBe(`/events/${again.id}`));
});
