// Lets the site's search run in pages that are opened as files. Browsers start no workers there;
// a hidden frame of the same page runs the script of the worker instead.
"use strict";
(() => {
  if (location.protocol !== "file:") return;

  // As in a worker, scripts run one after the other; unlike there, the caller waits for a promise.
  const load = (frame, ...urls) =>
    urls.reduce(
      (before, url) =>
        before.then(
          () =>
            new Promise((loaded, failed) => {
              const script = frame.document.createElement("script");
              script.src = url;
              script.onload = loaded;
              script.onerror = () => failed(new Error(`${url} cannot be read`));
              frame.document.body.append(script);
            }),
        ),
      Promise.resolve(),
    );

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.onerror = null;
      this.element = document.createElement("iframe");
      this.element.hidden = true;
      document.body.append(this.element);
      const frame = this.element.contentWindow;
      frame.postMessage = (data) => this.#tell(new MessageEvent("message", { data }));
      frame.importScripts = (...urls) => load(frame, ...urls);
      this.ready = load(frame, String(url)).catch((error) =>
        this.#tell(new ErrorEvent("error", { message: error.message, error })),
      );
    }

    postMessage(data) {
      this.ready.then(() => {
        const frame = this.element.contentWindow;
        frame.dispatchEvent(new frame.MessageEvent("message", { data: structuredClone(data) }));
      });
    }

    terminate() {
      this.element.remove();
    }

    #tell(event) {
      this.dispatchEvent(event);
      const listener = this[`on${event.type}`];
      if (listener) listener.call(this, event);
    }
  }

  window.Worker = FrameWorker;
})();
