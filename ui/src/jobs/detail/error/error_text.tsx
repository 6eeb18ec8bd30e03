import { UserText } from "@/parts/values/text";

/** An error with its type in front, unless it begins with its type anyway. */
export function ErrorText({ type, error }: { type: string | null; error: string }) {
  const name = type?.split(".").at(-1) ?? "";
  const named = type === null || error.startsWith(name) || error.startsWith(type);
  return (
    <>
      {!named && (
        <code className="font-semibold text-danger">
          <UserText>{`${type}: `}</UserText>
        </code>
      )}
      <UserText>{error}</UserText>
    </>
  );
}
