import { type ComponentType, lazy } from "react";

/** A screen's component, loaded when it is first opened. */
export interface Page {
  path: string;
  component: ComponentType;
}

/** Path pattern -> component; `:id` is read by `useParams`. */
export const PAGES: readonly Page[] = [
  { path: "/", component: lazy(() => import("@/overview/overview")) },
  { path: "/jobs", component: lazy(() => import("@/jobs/list/job_list")) },
  { path: "/jobs/:id", component: lazy(() => import("@/jobs/detail/job_page")) },
  { path: "/operations", component: lazy(() => import("@/jobs/operations/operation_list")) },
  { path: "/operations/:id", component: lazy(() => import("@/jobs/operations/operation_page")) },
  { path: "/dead", component: lazy(() => import("@/dead/dead_letter")) },
  { path: "/dead/:definition/:fingerprint", component: lazy(() => import("@/dead/group_page")) },
  { path: "/definitions", component: lazy(() => import("@/definitions/definition_list")) },
  { path: "/definitions/:key", component: lazy(() => import("@/definitions/definition_page")) },
  { path: "/schedules", component: lazy(() => import("@/schedules/schedule_list")) },
  { path: "/schedules/:id", component: lazy(() => import("@/schedules/schedule_page")) },
  { path: "/events", component: lazy(() => import("@/events/event_list")) },
  { path: "/events/:id", component: lazy(() => import("@/events/event_page")) },
  { path: "/workers", component: lazy(() => import("@/workers/worker_list")) },
  { path: "/workers/:id", component: lazy(() => import("@/workers/worker_page")) },
  { path: "/queues", component: lazy(() => import("@/queues/queue_list")) },
  { path: "/queues/:name", component: lazy(() => import("@/queues/queue_page")) },
  { path: "/logs", component: lazy(() => import("@/logs/log_search")) },
  { path: "/tenants", component: lazy(() => import("@/tenants/tenant_list")) },
  { path: "/tenants/:id", component: lazy(() => import("@/tenants/tenant_page")) },
  { path: "/fleet", component: lazy(() => import("@/fleet/fleet")) },
  { path: "/audit", component: lazy(() => import("@/audit/audit")) },
  { path: "/settings", component: lazy(() => import("@/settings/settings")) },
  { path: "/account", component: lazy(() => import("@/account/account")) },
];

/** Pages that need no credential. */
export const SIGNED_OUT: readonly Page[] = [
  { path: "/sign-in", component: lazy(() => import("@/account/sign_in")) },
  { path: "/setup", component: lazy(() => import("@/account/setup")) },
];
