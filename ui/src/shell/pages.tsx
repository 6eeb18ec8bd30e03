import { type ComponentType, lazy } from "react";

/** A screen's component, loaded when it is first opened. */
export interface Page {
  path: string;
  component: ComponentType;
}

/** Path pattern -> component; `:id` is read by `useParams`. */
export const PAGES: readonly Page[] = [
  { path: "/", component: lazy(() => import("@/monitoring/overview/overview")) },
  { path: "/jobs", component: lazy(() => import("@/jobs/list/job_list")) },
  { path: "/jobs/:id", component: lazy(() => import("@/jobs/detail/job_page")) },
  { path: "/operations", component: lazy(() => import("@/jobs/operations/operation_list")) },
  { path: "/operations/:id", component: lazy(() => import("@/jobs/operations/operation_page")) },
  { path: "/dead", component: lazy(() => import("@/jobs/dead/dead_letter")) },
  {
    path: "/dead/:definition/:fingerprint",
    component: lazy(() => import("@/jobs/dead/group_page")),
  },
  { path: "/definitions", component: lazy(() => import("@/definitions/definition_list")) },
  { path: "/definitions/:key", component: lazy(() => import("@/definitions/definition_page")) },
  { path: "/schedules", component: lazy(() => import("@/triggers/schedules/schedule_list")) },
  { path: "/schedules/:id", component: lazy(() => import("@/triggers/schedules/schedule_page")) },
  { path: "/events", component: lazy(() => import("@/triggers/events/event_list")) },
  { path: "/events/:id", component: lazy(() => import("@/triggers/events/event_page")) },
  { path: "/workers", component: lazy(() => import("@/leases/workers/worker_list")) },
  { path: "/workers/:id", component: lazy(() => import("@/leases/workers/worker_page")) },
  { path: "/queues", component: lazy(() => import("@/leases/queues/queue_list")) },
  { path: "/queues/:name", component: lazy(() => import("@/leases/queues/queue_page")) },
  { path: "/logs", component: lazy(() => import("@/jobs/logs/log_search")) },
  { path: "/tenants", component: lazy(() => import("@/access/tenants/tenant_list")) },
  { path: "/tenants/:id", component: lazy(() => import("@/access/tenants/tenant_page")) },
  { path: "/fleet", component: lazy(() => import("@/monitoring/fleet/fleet")) },
  { path: "/audit", component: lazy(() => import("@/access/audit/audit")) },
  { path: "/settings", component: lazy(() => import("@/settings/settings")) },
  { path: "/account", component: lazy(() => import("@/access/account/account")) },
];

/** Pages that need no credential. */
export const SIGNED_OUT: readonly Page[] = [
  { path: "/sign-in", component: lazy(() => import("@/access/account/sign_in")) },
  { path: "/setup", component: lazy(() => import("@/access/account/setup")) },
];
