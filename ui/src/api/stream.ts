import { apiAddress, requestsTenant } from "./client";

/** A topic of `/api/v1/stream`. */
export type Topic =
  | "jobs"
  | "dead"
  | "queues"
  | "workers"
  | "schedules"
  | "triggers"
  | "events"
  | `job:${string}`
  | `log:${string}`;

/** A change: the new value of something, with its topic. */
export type Change = { topic: Topic; key?: string; gone?: boolean } & Record<string, unknown>;

export type Liveness =
  | { state: "live" }
  | { state: "connecting"; since: number }
  | { state: "stale"; since: number }
  | { state: "paused" }
  | { state: "off" };

type Message =
  | { kind: "wanted"; tab: string; topics: Topic[] }
  | { kind: "ask" }
  | { kind: "gone"; tab: string }
  | { kind: "changes"; changes: Change[] }
  | { kind: "missed"; topics: Topic[] }
  | { kind: "liveness"; liveness: Liveness };

export type ChangeListener = (changes: Change[]) => void;

const STALE_AFTER_MS = 15_000;
const LATEST_RETRY_MS = 60_000;
const FIRST_RETRY_MS = 2_000;

/**
 * Live updates: one EventSource for all tabs of this browser that show the same tenant.
 *
 * The tab that holds a lock listens for all of them and passes on what comes; when it closes, or
 * is hidden, the lock goes to another tab. Without locks every tab listens for itself. Updates save
 * time: a reader reads again what `onStale` names, so that nothing depends on them.
 */
export class Stream {
  private readonly counts = new Map<Topic, number>();
  private readonly others = new Map<string, Topic[]>();
  private readonly listeners = new Set<ChangeListener>();
  private readonly watchers = new Set<() => void>();
  private readonly tab = crypto.randomUUID();
  private channel: BroadcastChannel | null = null;
  private source: EventSource | null = null;
  private listening = "";
  private leader = false;
  private release: (() => void) | null = null;
  private retryMs = FIRST_RETRY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private started = false;
  liveness: Liveness = { state: "off" };
  /** Called with topics that have to be read again, because they changed or were missed. */
  onStale: (topics: Topic[]) => void = () => {};

  /** Begin to listen; before that, `follow` only notes what is wanted. */
  start(): void {
    if (this.started || typeof EventSource === "undefined") return;
    this.started = true;
    this.join();
    document.addEventListener("visibilitychange", this.visibilityChanged);
    addEventListener("pagehide", () => this.tell({ kind: "gone", tab: this.tab }));
    this.visibilityChanged();
  }

  /** Follow topics until the returned function is called. */
  follow(topics: readonly Topic[]): () => void {
    for (const topic of topics) this.counts.set(topic, (this.counts.get(topic) ?? 0) + 1);
    this.wantsChanged();
    return () => {
      for (const topic of topics) {
        const left = (this.counts.get(topic) ?? 1) - 1;
        if (left > 0) this.counts.set(topic, left);
        else this.counts.delete(topic);
      }
      this.wantsChanged();
    };
  }

  /** Hear every change of followed topics; returns the way to stop. */
  onChanges(listener: ChangeListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  subscribeLiveness = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  pause(): void {
    this.close();
    this.setLiveness({ state: "paused" });
  }

  resume(): void {
    this.setLiveness({ state: "connecting", since: Date.now() });
    this.onStale([...this.counts.keys()]);
    this.connect();
  }

  /** Leave the tabs of one tenant and join those of another. */
  restart(): void {
    if (!this.started) return;
    this.tell({ kind: "gone", tab: this.tab });
    this.resign();
    this.others.clear();
    this.join();
    this.visibilityChanged();
  }

  private join(): void {
    this.channel?.close();
    if (!("BroadcastChannel" in globalThis)) return;
    this.channel = new BroadcastChannel(this.group());
    this.channel.onmessage = (event) => this.hear(event.data as Message);
  }

  /** Name of the channel and of the lock that tabs of one tenant share. */
  private group(): string {
    return `windlass-stream ${requestsTenant() ?? ""}`;
  }

  private visibilityChanged = (): void => {
    if (document.visibilityState === "hidden") this.resign();
    else this.stand();
  };

  /** Ask for the lock; its holder is the tab that listens. */
  private stand(): void {
    this.tell({ kind: "wanted", tab: this.tab, topics: [...this.counts.keys()] });
    if (!navigator.locks || this.channel === null) {
      this.lead();
      return;
    }
    if (this.release !== null) return;
    const wanted = new AbortController();
    this.release = () => wanted.abort();
    navigator.locks
      .request(this.group(), { signal: wanted.signal }, () => {
        this.lead();
        return new Promise<void>((resolve) => {
          this.release = resolve;
        });
      })
      .catch(() => {});
  }

  private resign(): void {
    this.release?.();
    this.release = null;
    this.leader = false;
    this.close();
  }

  private lead(): void {
    this.leader = true;
    this.others.clear();
    this.tell({ kind: "ask" });
    // What changed while nobody listened is not known.
    this.onStale([...this.counts.keys()]);
    this.connect();
  }

  private wantsChanged(): void {
    if (!this.started) return;
    if (this.leader) this.connect();
    else this.tell({ kind: "wanted", tab: this.tab, topics: [...this.counts.keys()] });
  }

  /** Listen to what is wanted now; a moment later, since screens change several topics at once. */
  private connect(): void {
    clearTimeout(this.timer);
    if (!this.leader || this.liveness.state === "paused") return;
    this.timer = setTimeout(() => {
      const topics = [...new Set([...this.counts.keys(), ...[...this.others.values()].flat()])];
      const wanted = topics.sort().slice(0, 100).join(",");
      if (wanted === this.listening && this.source !== null) return;
      this.close();
      this.listening = wanted;
      if (wanted !== "") this.open(wanted);
    }, 50);
  }

  private open(topics: string): void {
    const source = new EventSource(apiAddress("/stream", { topics }));
    this.source = source;
    if (this.liveness.state === "off") this.setLiveness({ state: "connecting", since: Date.now() });
    source.addEventListener("ready", (event) => {
      this.retryMs = FIRST_RETRY_MS;
      const { resumed } = JSON.parse(event.data) as { resumed: boolean };
      const before = this.liveness.state;
      this.setLiveness({ state: "live" });
      if (!resumed && before !== "live") this.missed(topics.split(",") as Topic[]);
    });
    source.addEventListener("reset", (event) => {
      this.missed((JSON.parse(event.data) as { topics: Topic[] }).topics);
    });
    source.addEventListener("changes", (event) => {
      const { changes } = JSON.parse(event.data) as { changes: Change[] };
      this.tell({ kind: "changes", changes });
      this.spread(changes);
    });
    source.onerror = () => {
      if (this.source !== source) return;
      const since = "since" in this.liveness ? this.liveness.since : Date.now();
      const stale = Date.now() - since > STALE_AFTER_MS;
      this.setLiveness({ state: stale ? "stale" : "connecting", since });
      // A browser connects again by itself, except after a refusal.
      if (source.readyState !== EventSource.CLOSED) return;
      this.source = null;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.onStale([...this.counts.keys()]);
        this.connect();
      }, this.retryMs);
      this.retryMs = Math.min(this.retryMs * 2, LATEST_RETRY_MS);
    };
  }

  private close(): void {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.listening = "";
  }

  private missed(topics: Topic[]): void {
    this.tell({ kind: "missed", topics });
    this.onStale(topics);
  }

  private spread(changes: Change[]): void {
    const mine = changes.filter((each) => this.counts.has(each.topic));
    if (mine.length === 0) return;
    for (const listener of this.listeners) listener(mine);
    this.onStale([...new Set(mine.map((each) => each.topic))]);
  }

  private hear(message: Message): void {
    switch (message.kind) {
      case "wanted":
        this.others.set(message.tab, message.topics);
        if (!this.leader) break;
        this.connect();
        this.tell({ kind: "liveness", liveness: this.liveness });
        break;
      case "gone":
        this.others.delete(message.tab);
        if (this.leader) this.connect();
        break;
      case "ask":
        this.tell({ kind: "wanted", tab: this.tab, topics: [...this.counts.keys()] });
        break;
      case "changes":
        this.spread(message.changes);
        break;
      case "missed":
        this.onStale(message.topics);
        break;
      case "liveness":
        if (!this.leader && this.liveness.state !== "paused") this.show(message.liveness);
        break;
    }
  }

  private tell(message: Message): void {
    this.channel?.postMessage(message);
  }

  private setLiveness(liveness: Liveness): void {
    if (this.leader) this.tell({ kind: "liveness", liveness });
    this.show(liveness);
  }

  private show(liveness: Liveness): void {
    this.liveness = liveness;
    for (const watcher of this.watchers) watcher();
  }
}

export const stream = new Stream();
