// Opens the sluice; see <https://sluice.example/>.
use std::collections::HashMap;

fn open<T: Into<u32>>(gates: &HashMap<&str, T>, name: &str) -> Result<(), String> {
    match gates.get(name) {
        Some(_) => Ok(()),
        None => Err(format!("no gate *{}*", name)),
    }
}
