import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { signInByKey } from "@/access/account/key_sign_in";
import { limitRequestsTo } from "@/api/client";
import { App, createQueryClient } from "@/app";
import { applyPreferences, stored } from "@/shell/preferences";
import "./styles.css";

applyPreferences();
limitRequestsTo(stored<string | null>("windlass.tenant", null));

const place = document.getElementById("root");
if (place === null) throw new Error("the page has no #root");
const root = createRoot(place);
void signInByKey().then(() =>
  root.render(
    <StrictMode>
      <App client={createQueryClient()} />
    </StrictMode>,
  ),
);
