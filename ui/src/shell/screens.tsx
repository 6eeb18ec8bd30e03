import type { Session } from "@/api/session";

/** A screen in the navigation. */
export interface Screen {
  path: string;
  title: string;
  /** Title where there is one tenant, if another. */
  titleOfSingle?: string;
  icon: string;
  /** Second key after `g`. */
  key?: string;
  /** Right that it needs; some screens have conditions of their own. */
  shown: (session: Session, manyTenants: boolean) => boolean;
}

const right = (name: string) => (session: Session) => session.may(name);

/** The screens, in the order of the navigation. */
const SCREENS: readonly Screen[] = [
  { path: "/", title: "Overview", icon: "overview", key: "o", shown: () => true },
  { path: "/jobs", title: "Jobs", icon: "jobs", key: "j", shown: right("jobs.read") },
  {
    path: "/dead",
    title: "Dead letter",
    icon: "dead",
    key: "f",
    shown: (session) => session.may("jobs.read") && !session.ownOnly,
  },
  {
    path: "/definitions",
    title: "Definitions",
    icon: "definitions",
    key: "d",
    shown: right("definitions.read"),
  },
  {
    path: "/schedules",
    title: "Schedules",
    icon: "schedules",
    key: "s",
    shown: right("triggers.read"),
  },
  { path: "/events", title: "Events", icon: "events", key: "e", shown: right("events.read") },
  { path: "/workers", title: "Workers", icon: "workers", key: "w", shown: right("workers.read") },
  { path: "/queues", title: "Queues", icon: "queues", key: "q", shown: right("queues.read") },
  {
    path: "/logs",
    title: "Logs",
    icon: "logs",
    key: "l",
    shown: (session) => session.may("logs.read") && !session.ownOnly,
  },
  {
    path: "/tenants",
    title: "Tenants",
    titleOfSingle: "People",
    icon: "tenants",
    key: "t",
    shown: (session) => session.may("tenants.read"),
  },
  {
    path: "/fleet",
    title: "Fleet",
    icon: "fleet",
    shown: (session, manyTenants) => session.overseer && session.may("stats.read") && manyTenants,
  },
  { path: "/audit", title: "Audit", icon: "audit", shown: right("audit.read") },
  { path: "/settings", title: "Settings", icon: "settings", shown: () => true },
];

/** The screens of a person, titled as they are there. */
export function screensFor(session: Session, manyTenants: boolean): readonly Screen[] {
  return SCREENS.filter((screen) => screen.shown(session, manyTenants)).map((screen) =>
    manyTenants ? screen : { ...screen, title: screen.titleOfSingle ?? screen.title },
  );
}
