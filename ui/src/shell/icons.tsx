/** Line icons of the navigation, drawn on a grid of 20. */
const PATHS: Record<string, string> = {
  overview: "M3 11h5V3H3zM12 17h5V9h-5zM3 17h5v-3H3zM12 6h5V3h-5z",
  jobs: "M4 5h12M4 10h12M4 15h8",
  dead: "M10 3l6 3.5v7L10 17l-6-3.5v-7zM8 8l4 4M12 8l-4 4",
  definitions: "M7 5l-4 5 4 5M13 5l4 5-4 5",
  schedules: "M10 3a7 7 0 100 14 7 7 0 000-14zM10 6v4l3 2",
  events: "M11 3L5 11h4l-1 6 6-8h-4z",
  workers: "M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.1M7 13.5h.1",
  queues: "M3 10h9M9 6l4 4-4 4M16 4v12",
  logs: "M5 3h7l3 3v11H5zM8 9h5M8 13h5",
  tenants: "M4 17V7l6-4 6 4v10M8 17v-4h4v4",
  fleet: "M4 16V9M8 16V5M12 16v-5M16 16V7",
  audit: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5zM7.5 10l2 2 3-4",
  settings: "M4 6h8M15 6h1M4 14h1M8 14h8M13 4v4M6 12v4",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="shrink-0"
    >
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
