import { useState } from "react";
import { write } from "@/api/read";
import { TextField } from "@/parts/forms/fields";
import { AccountForm, openDashboard } from "./account_form";

/** Name and password. */
export default function SignIn() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const signIn = (): Promise<void> =>
    write("post", "/api/v1/login", { body: { name, password } }).then(openDashboard);
  return (
    <AccountForm title="Sign in to Windlass" submit="Sign in" action={signIn}>
      <TextField label="Name" autoComplete="username" required value={name} change={setName} />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        change={setPassword}
      />
    </AccountForm>
  );
}
