import { type FormEvent, useState } from "react";
import type { Problem } from "@/api/problem";
import { write } from "@/api/read";
import { TextField } from "@/parts/forms/fields";
import { ErrorState } from "@/parts/panels/panel";

/** Name and password; afterwards the page one came for. */
export default function SignIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    write("post", "/api/v1/login", { body: { name, password } })
      .then(() => location.assign(document.baseURI))
      .catch((error: Problem) => setProblem(error))
      .finally(() => setBusy(false));
  };
  return (
    <main className="mx-auto mt-[15vh] max-w-sm p-4">
      <h1 className="mb-4">Sign in to Windlass</h1>
      <form onSubmit={submit} className="space-y-3">
        <TextField label="Name" autoComplete="username" required value={name} change={setName} />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          change={setPassword}
        />
        {problem && <ErrorState problem={problem} />}
        <button type="submit" className="button button-primary w-full" disabled={busy}>
          Sign in
        </button>
      </form>
    </main>
  );
}
