import { Dialog } from "@/parts/dialogs/dialog";
import { CopyButton } from "@/parts/values/values";

/** A secret that is shown once: a token, or a link. */
export function SecretDialog({
  title,
  secret,
  children,
  close,
}: {
  title: string;
  secret: string;
  children: React.ReactNode;
  close: () => void;
}) {
  return (
    <Dialog title={title} close={close}>
      <div className="space-y-3">
        {children}
        <p className="flex items-center gap-2 rounded-md border border-line-strong bg-raised p-2">
          <code className="min-w-0 flex-1 break-all">{secret}</code>
          <CopyButton text={secret} />
        </p>
        <p className="font-medium">It is not shown again.</p>
        <div className="flex justify-end">
          <button type="button" className="button button-primary" onClick={close}>
            I have it
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** A one-time link as a whole address. */
export function linkAddress(path: string): string {
  return new URL(path.replace(/^\//, ""), document.baseURI).href;
}
