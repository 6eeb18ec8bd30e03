import { cleanup } from "@testing-library/preact";
import { afterEach } from "vitest";
import { clearToasts } from "@/parts/dialogs/toasts";

// jsdom has no layout and opens no dialogs: the little that components need of both.
HTMLDialogElement.prototype.showModal ??= function show(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false;
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

afterEach(() => {
  cleanup();
  clearToasts();
  localStorage.clear();
  history.replaceState(null, "", "/");
});
