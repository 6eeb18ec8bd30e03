import { cleanup, configure } from "@testing-library/preact";
import { afterAll, afterEach } from "vitest";
import { clearToasts } from "@/parts/dialogs/toasts";

// Awaited things come in milliseconds; on a busy machine that may take seconds.
configure({ asyncUtilTimeout: 20_000 });

// jsdom has no layout and opens no dialogs: the little that components need of both.
HTMLDialogElement.prototype.showModal ??= function show(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false;
};
// A popover counts as hidden until it is shown; there is no layer in front to show it in.
HTMLElement.prototype.showPopover ??= function show(this: HTMLElement) {
  this.removeAttribute("popover");
};
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
Object.defineProperties(HTMLElement.prototype, {
  offsetHeight: { get: () => 600 },
  clientHeight: { get: () => 600 },
  clientWidth: { get: () => 1200 },
  offsetWidth: { get: () => 1200 },
});

// A tree that is taken away while a part of it still loads keeps its timers; they end with the page.
const intervals: ReturnType<typeof setInterval>[] = [];
const begin = globalThis.setInterval;
globalThis.setInterval = ((...args: Parameters<typeof begin>) => {
  const interval = begin(...args);
  intervals.push(interval);
  return interval;
}) as typeof begin;

/** What Preact does after a frame: effects, and the ends of those of a tree that was taken away. */
async function nextFrame(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => setTimeout(resolve));
}

afterEach(async () => {
  cleanup();
  await nextFrame();
  clearToasts();
  localStorage.clear();
  history.replaceState(null, "", "/");
});

afterAll(async () => {
  await nextFrame();
  for (const interval of intervals) clearInterval(interval);
});
