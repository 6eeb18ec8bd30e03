import { type ReactNode, useState } from "react";
import { type Answer, useRead, write } from "@/api/read";
import { useSession } from "@/api/session";
import { showToast } from "@/parts/dialogs/toasts";
import { Panel, QueryView } from "@/parts/panels/panel";

type Facts = Answer<"/api/v1/settings", "get">;
type Sent = Answer<"/api/v1/notifications/test", "post"> extends { items: (infer T)[] } ? T : never;
type Receiver = NonNullable<Facts["notifications"]>[number];

const DATABASES: Record<string, string> = {
  sqlite: "SQLite",
  postgresql: "PostgreSQL",
  mysql: "MariaDB or MySQL",
};

/** Settings of the installation as the server has them, each with its key; nothing is changed here. */
export function Installation() {
  const settings = useRead("/api/v1/settings");
  return (
    <Panel title="Installation">
      <QueryView query={settings}>
        {(facts) => (
          <>
            <dl className="divide-y divide-line">
              <Server facts={facts} />
              <Retention facts={facts} />
              <Redaction facts={facts} />
              <Notifications facts={facts} />
            </dl>
            <p className="mt-3 text-[13px] text-muted">
              Set in <code>windlass.toml</code> or by variables, such as{" "}
              <code>WINDLASS_RETENTION_DAYS</code>; they hold after a restart.{" "}
              <code>windlass config show --origin</code> lists all of them.
            </p>
          </>
        )}
      </QueryView>
    </Panel>
  );
}

/** One setting: its name for people, its value, and the key that changes it. */
function Setting({
  name,
  keys = [],
  children,
}: {
  name: string;
  keys?: readonly string[];
  children: ReactNode;
}) {
  return (
    <div className="grid gap-x-4 gap-y-0.5 py-1.5 sm:grid-cols-[12rem_1fr]">
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0 break-words">{children}</div>
        {keys.length > 0 && (
          <span className="flex flex-col text-[13px] text-muted sm:items-end">
            {keys.map((key) => (
              <code key={key}>{key}</code>
            ))}
          </span>
        )}
      </dd>
    </div>
  );
}

function Server({ facts }: { facts: Facts }) {
  const { database } = facts;
  return (
    <>
      <Setting name="Environment" keys={["server.environment"]}>
        {facts.environment || "none"}
        {facts.development && <span className="text-muted"> (windlass dev)</span>}
      </Setting>
      <Setting name="Windlass">{facts.version}</Setting>
      {database && (
        <Setting name="Database" keys={["database.url"]}>
          {DATABASES[database.kind] ?? database.kind} {database.version}
        </Setting>
      )}
      <Setting name="Authentication" keys={["windlass serve --no-auth"]}>
        {facts.authentication
          ? "On"
          : "Off: everybody who reaches this server on this machine may do everything"}
      </Setting>
      <Setting name="Tenants" keys={["windlass tenants create"]}>
        {facts.single_tenant ? "One: nothing else on the pages speaks of tenants" : "Several"}
      </Setting>
    </>
  );
}

function Retention({ facts: { retention } }: { facts: Facts }) {
  if (!retention) return null;
  return (
    <>
      <Setting name="Ended jobs are kept" keys={["retention_days", "retention_count"]}>
        {days(retention.days)}
        {retention.count !== null &&
          `, at most ${retention.count.toLocaleString("en-US")} of each definition`}
      </Setting>
      <Setting name="Log lines are kept" keys={["log_retention_days"]}>
        {days(retention.log_days)}
      </Setting>
    </>
  );
}

function days(count: number | null): string {
  if (count === null) return "For ever";
  return `${count.toLocaleString("en-US")} ${count === 1 ? "day" : "days"}`;
}

function Redaction({ facts: { redaction } }: { facts: Facts }) {
  if (!redaction) return null;
  return (
    <Setting name="Redacted values" keys={["redaction.names", "redaction.patterns"]}>
      <details>
        <summary className="min-h-6 cursor-pointer">
          Fields of {redaction.names.length} names, {redaction.patterns}{" "}
          {redaction.patterns === 1 ? "pattern" : "patterns"} of your own
        </summary>
        <p className="mono text-[13px] break-words">{redaction.names.join(" ")}</p>
      </details>
    </Setting>
  );
}

function Notifications({ facts: { notifications } }: { facts: Facts }) {
  const session = useSession();
  if (!notifications) return null;
  return (
    <Setting name="Alerts go to" keys={["alerts.mail_to", "alerts.webhook_url"]}>
      {notifications.length === 0 ? (
        "Nobody: they are only in the server's log"
      ) : (
        <>
          <ul>
            {notifications.map((each) => (
              <li key={`${each.kind} ${each.to}`}>{receiverWords(each)}</li>
            ))}
          </ul>
          {session.may("notifications.test") && <TestMessage />}
        </>
      )}
    </Setting>
  );
}

function receiverWords({ kind, to }: Receiver): string {
  return `${kind === "mail" ? "Mail" : "Webhook"} ${to}`;
}

function TestMessage() {
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const send = (): void => {
    setSending(true);
    setSent([]);
    write("post", "/api/v1/notifications/test", {})
      .then((answer) => setSent(answer.items))
      .catch((problem) => showToast({ text: problem.title, problem: true }))
      .finally(() => setSending(false));
  };
  return (
    <>
      <button type="button" className="button my-1" disabled={sending} onClick={send}>
        {sending ? "Sending…" : "Send a test message"}
      </button>
      <ul role="status">
        {sent.map((each) => (
          <li key={each.receiver} className={each.sent ? "text-good" : "text-danger"}>
            {each.sent ? "✓" : "✕"} {each.receiver}:{" "}
            {each.sent ? "sent" : `not sent, ${each.error}`}
          </li>
        ))}
      </ul>
    </>
  );
}
